export const rowHeight = 20;

/** Browsers lay out no element much higher than 16 million pixels; what is over is reached by scaling. */
const maxSpacerHeight = 6_000_000;

export type LogViewport = {
  /** Pixels from the first row's top to the upper edge of what is in sight. */
  top: number;
  height: number;
  /** What has to be taken off a row's virtual place to get its place in the spacer. */
  offset: number;
  spacerHeight: number;
  follow: boolean;
};

/**
 * Scrolls a million rows in an element that can't be that high. While the rows fit, a place in the scroll range is a
 * place in the log. Beyond that the wheel and the keys still move pixel by pixel, and the scroll bar in proportion;
 * once it is quiet, the scroll position is set to where it stands in proportion, which moves nothing in sight.
 */
export class LogScroller {
  readonly #element: HTMLElement;
  readonly #spacer: HTMLElement;
  readonly #onChange: (viewport: LogViewport) => void;
  #first = 0;
  #total = 0;
  #top = 0;
  #lastScrollTop = 0;
  #follow = true;
  #quiet: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement, spacer: HTMLElement, onChange: (viewport: LogViewport) => void) {
    this.#element = element;
    this.#spacer = spacer;
    this.#onChange = onChange;
  }

  get follow(): boolean {
    return this.#follow;
  }

  /** The log has rows from `first` up to `end` now. Rows in sight stay where they are, unless it follows the end. */
  setRows(first: number, end: number): void {
    const dropped = first - this.#first;
    this.#first = first;
    this.#total = (end - first) * rowHeight;
    this.#spacer.style.height = `${this.#spacerHeight}px`;
    if (this.#follow) this.#place(this.#maxTop);
    else if (dropped > 0 || this.#top > this.#maxTop) this.#place(this.#top - dropped * rowHeight);
    else this.#publish();
  }

  toRow(row: number): void {
    this.#follow = false;
    this.#place((row - this.#first) * rowHeight - this.#element.clientHeight / 2);
  }

  toEnd(): void {
    this.#follow = true;
    this.#place(this.#maxTop);
  }

  toStart(): void {
    this.#follow = false;
    this.#place(0);
  }

  /** Stops following at the first sign of scrolling up, before the browser has moved anything. */
  release(): void {
    if (!this.#follow) return;
    this.#follow = false;
    this.#publish();
  }

  resized(): void {
    if (this.#follow) this.#place(this.#maxTop);
    else this.#publish();
  }

  scrolled(): void {
    const { scrollTop, clientHeight } = this.#element;
    const moved = scrollTop - this.#lastScrollTop;
    if (moved === 0) return;
    this.#lastScrollTop = scrollTop;
    const scaled = this.#spacerHeight < this.#total;
    const jumped = Math.abs(moved) > clientHeight * 2;
    if (!scaled) this.#top = scrollTop;
    else if (jumped) this.#top = (scrollTop / this.#maxScrollTop) * this.#maxTop;
    else this.#top = Math.max(0, Math.min(this.#maxTop, this.#top + moved));
    // A view that grew is moved up by the browser too, but to the very end: that is no scrolling up.
    if (moved < 0) this.#follow &&= this.#top >= this.#maxTop - 1;
    else if (this.#top >= this.#maxTop - rowHeight) this.#follow = true;
    if (scaled) this.#settle(scrollTop);
    this.#publish();
  }

  close(): void {
    clearTimeout(this.#quiet);
  }

  get #spacerHeight(): number {
    return Math.min(this.#total, maxSpacerHeight);
  }

  get #maxTop(): number {
    return Math.max(0, this.#total - this.#element.clientHeight);
  }

  get #maxScrollTop(): number {
    return Math.max(1, this.#spacerHeight - this.#element.clientHeight);
  }

  #settle(scrollTop: number): void {
    clearTimeout(this.#quiet);
    const atEdge = scrollTop <= 0 || scrollTop >= this.#maxScrollTop - 1;
    if (atEdge) this.#place(this.#top);
    else this.#quiet = setTimeout(() => this.#place(this.#top), settleMs);
  }

  #place(top: number): void {
    this.#top = Math.max(0, Math.min(this.#maxTop, top));
    const scaled = this.#spacerHeight < this.#total;
    const scrollTop = scaled ? Math.round((this.#top / this.#maxTop) * this.#maxScrollTop) : this.#top;
    if (Math.abs(this.#element.scrollTop - scrollTop) >= 1) this.#element.scrollTop = scrollTop;
    this.#lastScrollTop = this.#element.scrollTop;
    this.#publish();
  }

  #publish(): void {
    this.#onChange({
      top: this.#top,
      height: this.#element.clientHeight,
      offset: this.#top - this.#lastScrollTop,
      spacerHeight: this.#spacerHeight,
      follow: this.#follow,
    });
  }
}

const settleMs = 160;
