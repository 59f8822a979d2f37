import * as z from 'zod';
import { Timestamp } from './ids.ts';

export const KeyEnvironment = z.enum(['live', 'test']).meta({ id: 'KeyEnvironment' });
export type KeyEnvironment = z.infer<typeof KeyEnvironment>;

export const Health = z.object({ status: z.literal('ok'), version: z.string() }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const DaemonStatus = z
  .object({
    version: z.string(),
    env: KeyEnvironment,
    url: z.string(),
    pid: z.int(),
    node: z.string(),
    platform: z.string(),
    data_dir: z.string(),
    started_at: Timestamp,
    memory_bytes: z.int().describe('Resident set size of the daemon'),
    running_jobs: z.int(),
    open_streams: z.int(),
    notices: z
      .array(z.string())
      .describe('What the user should know: a state file set aside, orphans swept at start'),
  })
  .meta({ id: 'DaemonStatus' });
export type DaemonStatus = z.infer<typeof DaemonStatus>;

/** The one line of `tallystick serve --json`, and the ready message to the desktop's main process. */
export const ListeningEvent = z
  .object({
    event: z.literal('listening'),
    url: z.string(),
    pid: z.int(),
    data_dir: z.string(),
    login_token: z.string(),
    version: z.string(),
  })
  .meta({ id: 'ListeningEvent' });
export type ListeningEvent = z.infer<typeof ListeningEvent>;

/** Messages between the desktop's main process and the daemon it started. */
export type MessageToDaemon = { type: 'mint-login-token' } | { type: 'shutdown' };
export type MessageFromDaemon =
  | { type: 'ready'; listening: z.infer<typeof ListeningEvent> }
  | { type: 'login-token'; token: string }
  | { type: 'jobs'; running: number }
  | { type: 'failed'; message: string };
