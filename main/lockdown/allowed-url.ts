/** What a page may load, given the origin that the panel is served from now (`null`: there is no panel). */
export type UrlPolicy = { panelOrigin: () => string | null; devTools: boolean };

/** Whether a window may navigate to `url`: the panel's own pages, and nothing else. */
export function mayNavigate(url: string, policy: UrlPolicy): boolean {
  const target = URL.parse(url);
  return target?.protocol === 'http:' && target.origin === policy.panelOrigin();
}

/**
 * Whether a request may leave a page: to the panel's origin (with `ws:`, and `blob:` made by the panel),
 * and pictures and fonts that are data. In development the developer tools' own files too.
 */
export function mayRequest(url: string, resourceType: string, policy: UrlPolicy): boolean {
  const target = URL.parse(url);
  if (target === null) return false;
  switch (target.protocol) {
    case 'http:':
    case 'blob:':
      return target.origin === policy.panelOrigin();
    case 'ws:':
      return `http://${target.host}` === policy.panelOrigin();
    case 'data:':
      // Chromium lets no page navigate its window to data, so a main frame is our own failure view.
      return resourceType === 'image' || resourceType === 'font' || resourceType === 'mainFrame';
    case 'devtools:':
      return policy.devTools;
    default:
      return false;
  }
}

/** Whether a link that the user clicked may be handed to the system browser. */
export function mayOpenOutside(url: string): boolean {
  const target = URL.parse(url);
  return target?.protocol === 'https:' && target.username === '' && target.password === '';
}
