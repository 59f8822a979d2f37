export type Ssh2 = typeof import('ssh2');

/** On first use: it takes 50 ms and 10 MB that a daemon without remote hosts need not spend. */
export async function loadSsh2(): Promise<Ssh2> {
  return (await import('ssh2')).default;
}
