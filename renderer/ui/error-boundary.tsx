import { Component, type ReactNode } from 'react';

type ErrorBoundaryProps = { instead: ReactNode; children: ReactNode };

/** Shows `instead` where what is inside can not be shown: for data that may be of any shape. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.instead : this.props.children;
  }
}
