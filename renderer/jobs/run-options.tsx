import { SecretsChoice } from '../ssh/secrets-choice.tsx';
import { CheckBox } from '../ui/check-box.tsx';
import { inputClasses } from '../ui/field.tsx';

export type Options = {
  cwd: string;
  timeout: string;
  /** Of a command here: whether it gets the workspace's secrets. */
  withSecrets: boolean;
  /** Of a command on a host: the names of those it gets. */
  secrets: string[];
};

type RunOptionsProps = { options: Options; onChange: (options: Options) => void; remote: boolean };

/** What a command is run with beyond its line. */
export function RunOptions({ options, onChange, remote }: RunOptionsProps) {
  const set = (some: Partial<Options>) => onChange({ ...options, ...some });
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-5 gap-y-2">
      {!remote && (
        <Option
          label="In folder"
          width="w-56!"
          placeholder="the workspace’s root"
          value={options.cwd}
          onChange={(cwd) => set({ cwd })}
        />
      )}
      <Option
        label="Timeout"
        width="w-20!"
        placeholder="300"
        value={options.timeout}
        onChange={(timeout) => set({ timeout })}
        unit="seconds"
        invalid={timeoutProblem(options.timeout) !== undefined}
      />
      {remote ? (
        <SecretsChoice chosen={options.secrets} onChange={(secrets) => set({ secrets })} />
      ) : (
        <label
          htmlFor={secretsFieldId}
          className="flex h-7 items-center gap-2 text-xs whitespace-nowrap text-muted"
        >
          <CheckBox
            id={secretsFieldId}
            label="With the workspace’s secrets"
            checked={options.withSecrets}
            onChange={() => set({ withSecrets: !options.withSecrets })}
          />
          With secrets
        </label>
      )}
    </div>
  );
}

export function timeoutProblem(timeout: string): string | undefined {
  if (timeout.trim() === '') return undefined;
  const seconds = Number(timeout);
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= 300
    ? undefined
    : 'The timeout is a whole number of seconds from 1 to 300.';
}

const secretsFieldId = 'run-with-secrets';

type OptionProps = {
  label: string;
  width: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  unit?: string;
  invalid?: boolean;
};

function Option({ label, width, placeholder, value, onChange, unit, invalid = false }: OptionProps) {
  return (
    <label className="flex items-center gap-2 text-xs whitespace-nowrap text-muted">
      {label}
      <input
        className={`${inputClasses} h-7! ${width} font-mono text-xs!`}
        aria-invalid={invalid}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {unit}
    </label>
  );
}
