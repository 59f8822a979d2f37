import { Eye, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { SecretListing } from '../../daemon/contract/secrets.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { FilterField } from '../ui/filter-field.tsx';
import { agoWords, countWords, exactTime } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';

type Act = (secret: SecretListing) => void;
type SecretListProps = { secrets: SecretListing[]; onReveal: Act; onChange: Act; onDelete: Act };

export function SecretList({ secrets, ...acts }: SecretListProps) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = secrets.filter((secret) => secret.name.toLowerCase().includes(wanted));
  return (
    <>
      {secrets.length >= filterFrom && (
        <div className="mb-3 flex items-center gap-3">
          <FilterField className="w-[280px]" label="Filter by name" value={text} onChange={setText} />
          <span role="status" className="text-xs text-faint tabular-nums">
            {wanted === '' ? countWords(secrets.length, 'secret') : `${found.length} of ${secrets.length}`}
          </span>
        </div>
      )}
      {found.length === 0 ? (
        <div className="flex flex-col items-center gap-3 rounded-lg border border-line py-10 text-muted">
          <p>No secret has a name like this.</p>
          <Button small onClick={() => setText('')}>
            Clear filter
          </Button>
        </div>
      ) : (
        <SecretTable secrets={found} {...acts} />
      )}
    </>
  );
}

const filterFrom = 8;

function SecretTable({ secrets, onReveal, onChange, onDelete }: SecretListProps) {
  const now = useNow(30_000);
  return (
    <div className="overflow-x-auto rounded-lg border border-line">
      <table className="w-full min-w-[560px] table-fixed text-left" aria-label="Secrets">
        <thead className="border-b border-line bg-inset text-xs text-faint">
          <tr>
            <th className="px-3 py-2 font-medium">Name</th>
            <th className="w-[130px] px-3 py-2 font-medium">Preview</th>
            <th className="w-[130px] px-3 py-2 font-medium">Updated</th>
            <th className="w-[112px] px-3 py-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {secrets.map((secret) => (
            <tr key={secret.name} className="hover:bg-hover">
              <td
                className="truncate px-3 py-1.5 font-mono text-xs font-medium select-text"
                title={secret.name}
              >
                {secret.name}
              </td>
              <td className="truncate px-3 py-1.5 font-mono text-xs text-faint">{secret.preview}</td>
              <td
                className="px-3 py-1.5 whitespace-nowrap text-muted tabular-nums"
                title={exactTime(secret.updated_at)}
              >
                {agoWords(secret.updated_at, now)}
              </td>
              <td className="px-2 py-1 text-right whitespace-nowrap">
                <IconButton label={`Reveal ${secret.name}`} onClick={() => onReveal(secret)}>
                  <Eye />
                </IconButton>
                <IconButton label={`Change ${secret.name}`} onClick={() => onChange(secret)}>
                  <Pencil />
                </IconButton>
                <IconButton label={`Delete ${secret.name}`} onClick={() => onDelete(secret)}>
                  <Trash2 />
                </IconButton>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
