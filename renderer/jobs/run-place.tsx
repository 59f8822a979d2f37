import { classNames } from '../ui/class-names.ts';
import { inputClasses } from '../ui/field.tsx';

type RunPlaceProps = {
  workspaceName: string;
  host: string | undefined;
  hosts: string[];
  onHost: (host: string | undefined) => void;
};

/** Where a command runs: in the workspace here, or on one of the hosts. */
export function RunPlace({ workspaceName, host, hosts, onHost }: RunPlaceProps) {
  // One that has left the configuration stays what is chosen until another is.
  const offered = host === undefined || hosts.includes(host) ? hosts : [host, ...hosts];
  return (
    <select
      aria-label="Where to run"
      className={classNames(
        inputClasses,
        'w-auto! max-w-[180px] shrink-0',
        host !== undefined && 'font-medium',
      )}
      value={host ?? ''}
      onChange={({ target }) => onHost(offered.find((one) => one === target.value))}
    >
      <option value="">{workspaceName}</option>
      <optgroup label="SSH hosts">
        {offered.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </optgroup>
    </select>
  );
}
