import { readFileSync } from 'node:fs';

const actions = ['retry', 'logs', 'quit'] as const;
export type FailureAction = (typeof actions)[number];

/**
 * The failure view as a `data:` address, so that showing it needs neither the daemon nor `file:` pages.
 * It has no script: its buttons are links to a name that can't exist (RFC 6761), and what the user wants
 * is read from the refused navigation with `failureAction`.
 */
export function failurePage(
  template: string,
  shown: { reason: string; output: string; logPath: string },
): string {
  const html = readFileSync(template, 'utf8')
    .replace('{{reason}}', () => escapeHtml(shown.reason))
    .replace('{{logPath}}', () => escapeHtml(shown.logPath))
    .replace('{{output}}', () => escapeHtml(shown.output || 'The daemon printed nothing.'));
  return `data:text/html;charset=utf-8;base64,${Buffer.from(html).toString('base64')}`;
}

/** What a followed link of the failure view asks for; `null` for any other address. */
export function failureAction(url: string): FailureAction | null {
  return actions.find((action) => url === `http://failure.invalid/${action}`) ?? null;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
