import { parseArgs } from 'node:util';
import { ConfigError, dataDirOf } from './config.ts';
import { serve } from './serve.ts';
import { showStatus } from './show-status.ts';
import { verifyCommand } from './verify-folder.ts';
import { version } from './version.ts';

const help = `Tallystick ${version}: a local daemon for AI agents and their developer

Usage: tallystick <command> [options]

Commands:
  serve     Run the daemon in this terminal and print a link to the panel
  status    Say whether a daemon runs on the data folder, and where
  verify    Say whether the receipts in a folder are as they were written, and else which field of which is not

Options of serve:
  --port N          Port on 127.0.0.1; 0 picks a free one (default 4774)
  --data-dir D      Data folder (default: the platform's folder for application data)
  --env live|test   Which API keys are made and taken (default live)
  --key-file F      File with the master key of the secret stores
  --ssh-config F    SSH client configuration to use in place of ~/.ssh/config
  --json            Print one line of JSON once requests are accepted, and nothing else, on standard output

Options of status:
  --data-dir D      Data folder to look at
  --json            Print JSON

Options of verify <folder>, a receipts folder or a project:
  --head H          Hash that the newest receipt must have
  --key K           Verifier key that CHECKPOINT must be signed with
  --workspace W     Id of the workspace that the chain must belong to
  --json            Print JSON

  --help, --version

Exit status: 0 done (verify: valid), 1 failed (verify: not valid), 2 wrong usage, 3 (status) no daemon runs.
`;

/** The command line. Answers the exit status. */
async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (rest.includes('--help') || rest.includes('-h')) return print(help);
  switch (command) {
    case 'serve':
      return serve(rest);
    case 'status': {
      const { values } = parseArgs({
        args: rest,
        options: { 'data-dir': { type: 'string' }, json: { type: 'boolean' } },
      });
      return showStatus(dataDirOf(values['data-dir'], process.env), values.json ?? false);
    }
    case 'verify':
      return verifyCommand(rest);
    case '--version':
    case '-v':
      return print(`${version}\n`);
    case '--help':
    case '-h':
    case 'help':
      return print(help);
    default:
      process.stderr.write(
        command === undefined
          ? help
          : `tallystick: there is no command ${JSON.stringify(command)}; see tallystick --help\n`,
      );
      return 2;
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    const usage = isUsageError(error);
    process.stderr.write(
      `tallystick: ${error instanceof Error ? (usage ? error.message : error.stack) : String(error)}\n`,
    );
    process.exitCode = usage ? 2 : 1;
  },
);

function isUsageError(error: unknown): boolean {
  if (error instanceof ConfigError) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
