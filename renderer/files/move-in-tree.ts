import type { KeyboardEvent } from 'react';

/** The keys of a tree, as the ARIA practices have them: arrows, Home, End, Enter, Space, and letters to jump to. */
export function moveInTree(
  event: KeyboardEvent<HTMLElement>,
  setOpen: (folder: string, open: boolean) => void,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const row = rows.find((one) => one === document.activeElement);
  if (row === undefined) return;
  const at = rows.indexOf(row);
  const path = row.dataset.path ?? '';
  const open = row.ariaExpanded;
  const go = (to: HTMLElement | undefined) => to?.focus();
  switch (event.key) {
    case 'ArrowDown':
      go(rows[at + 1]);
      break;
    case 'ArrowUp':
      go(rows[at - 1]);
      break;
    case 'Home':
      go(rows[0]);
      break;
    case 'End':
      go(rows.at(-1));
      break;
    case 'ArrowRight':
      if (open === 'false') setOpen(path, true);
      else if (open === 'true' && levelOf(rows[at + 1]) > levelOf(row)) go(rows[at + 1]);
      break;
    case 'ArrowLeft':
      if (open === 'true') setOpen(path, false);
      else go(rows.slice(0, at).findLast((above) => levelOf(above) < levelOf(row)));
      break;
    case 'Enter':
    case ' ':
      row.click();
      break;
    default:
      if (!jump(event.key, rows, at)) return;
  }
  event.preventDefault();
  // Letters are keys of the page, too.
  event.stopPropagation();
}

function levelOf(row: HTMLElement | undefined): number {
  return Number(row?.ariaLevel ?? 0);
}

/** To the next row that begins with the letter. */
function jump(key: string, rows: HTMLElement[], at: number): boolean {
  if (key.length !== 1 || key === '?') return false;
  const letter = key.toLowerCase();
  const next = [...rows.slice(at + 1), ...rows.slice(0, at)].find((row) => nameOf(row).startsWith(letter));
  next?.focus();
  return next !== undefined;
}

function nameOf(row: HTMLElement): string {
  return (row.dataset.path ?? '').split('/').at(-1)?.toLowerCase() ?? '';
}
