import { Dialog } from '../ui/dialog.tsx';
import { commandKey, Kbd } from '../ui/kbd.tsx';

export function ShortcutsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      <div className="space-y-5">
        {sections(commandKey()).map(({ title, rows }) => (
          <section key={title}>
            <h3 className="mb-1.5 text-xs font-medium text-faint">{title}</h3>
            <dl className="divide-y divide-line border-y border-line">
              {rows.map(([what, keys]) => (
                <div key={what} className="flex h-8 items-center justify-between">
                  <dt>{what}</dt>
                  <dd className="flex gap-1">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

type Section = { title: string; rows: [string, string[]][] };

function sections(command: string): Section[] {
  return [
    {
      title: 'Anywhere',
      rows: [
        ['Command palette', [command, 'K']],
        ['Go to Workspaces', ['G', 'W']],
        ['Go to Jobs', ['G', 'J']],
        ['Go to Files', ['G', 'F']],
        ['Go to Receipts', ['G', 'R']],
        ['Go to SSH hosts', ['G', 'H']],
        ['Go to Secrets', ['G', 'S']],
        ['Go to API keys', ['G', 'K']],
        ['Go to Security', ['G', 'M']],
        ['Go to Daemon', ['G', 'D']],
        ['Run a command', ['R']],
        ['Create an API key', ['N']],
      ],
    },
    {
      title: 'In a job’s output',
      rows: [
        ['Search', [command, 'F']],
        ['Next, previous match', ['Enter', 'Shift Enter']],
        ['Beginning, latest line', ['Home', 'End']],
        ['Select a range of lines', ['Shift click']],
      ],
    },
    { title: 'In the command field', rows: [['Earlier, later commands', ['↑', '↓']]] },
    {
      title: 'In Files',
      rows: [
        ['Save', [command, 'S']],
        ['Find in the file', [command, 'F']],
        ['Leave the editor', ['Esc', 'Tab']],
        ['Open, close a folder of the tree', ['→', '←']],
      ],
    },
  ];
}
