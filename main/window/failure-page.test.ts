import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failureAction, failurePage } from './failure-page.ts';

const template = join(import.meta.dirname, '..', 'failure', 'index.html');

test('shows its texts as text, whatever is in them', () => {
  const shown = { reason: '<b>$&</b>', output: '</textarea><script>"\'&', logPath: '/logs/{{output}}' };
  const [head, body] = failurePage(template, shown).split(',');
  const html = Buffer.from(body ?? '', 'base64').toString();
  expect(head).toBe('data:text/html;charset=utf-8;base64');
  expect(html).toContain('&lt;b&gt;$&amp;&lt;/b&gt;');
  expect(html).not.toContain('<script>');
  expect(html).toContain('&lt;/textarea&gt;&lt;script&gt;&quot;&#39;&amp;');
});

test('every button of the view is an action, and nothing else is', () => {
  const [, body] = failurePage(template, { reason: '', output: '', logPath: '' }).split(',');
  const links = [
    ...Buffer.from(body ?? '', 'base64')
      .toString()
      .matchAll(/href="([^"]+)"/g),
  ];
  expect(links.map(([, url]) => failureAction(url ?? ''))).toEqual(['retry', 'logs', 'quit']);
  expect(failureAction('http://failure.invalid/retry/')).toBeNull();
  expect(failureAction('http://failure.invalid/other')).toBeNull();
});
