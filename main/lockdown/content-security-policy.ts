/**
 * Enforced by the desktop on everything the panel's origin serves, beside the policy that the daemon
 * sends: where both speak, the stricter one holds. Styles may be inline, because the panel's component
 * libraries make style elements; scripts never are.
 */
export function contentSecurityPolicy(origin: string): string {
  const socket = origin.replace(/^http/, 'ws');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self' ${socket}`,
    "worker-src 'self' blob:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ');
}
