import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'ssh2';
import { startSshd } from '../../../bench/sshd.ts';
import { SftpSession } from './sftp-session.ts';
import { readRemoteFile } from './read-remote-file.ts';
const dir = mkdtempSync('/tmp/h3/t-');
await using sshd = await startSshd(dir);
const args = sshd.sshArgs('x');
const port = args[args.indexOf('-p') + 1]!;
const key = args[args.indexOf('-i') + 1]!;
const file = join(dir, 'big');
writeFileSync(file, randomBytes(50 * 1024 * 1024));
const cipher = (process.argv[2] ?? 'aes128-gcm@openssh.com') as any;
const client = new Client();
await new Promise((resolve, reject) => client.on('ready', resolve as any).on('error', reject).connect({ host: '127.0.0.1', port: Number(port), username: 'root', privateKey: readFileSync(key), algorithms: { cipher: [cipher] } }));
if (process.env.ND) client.setNoDelay(true);
for (let i = 0; i < 8; i++) {
  const t = performance.now(); const c = process.cpuUsage();
  using session = await SftpSession.open(client, { replyTimeoutMs: 10000 });
  const b = await readRemoteFile(session, file, 50 * 1024 * 1024);
  const d = process.cpuUsage(c);
  console.log(Math.round(performance.now() - t), 'user', d.user/1000|0, 'sys', d.system/1000|0, b.length);
}
client.end();
