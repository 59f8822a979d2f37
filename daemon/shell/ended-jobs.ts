import type { JobId } from '../contract/ids.ts';
import type { Job } from './job.ts';

const maxJobs = 32;
const maxBytes = 8 * 1024 * 1024;

/** Jobs that have ended, kept so that their output can still be read: the newest few, and a few MiB in all. */
export class EndedJobs {
  /** Oldest first. */
  readonly #jobs = new Map<JobId, Job>();

  add(job: Job): void {
    this.#jobs.set(job.options.jobId, job);
    let bytes = this.#heldBytes();
    for (const [jobId, oldest] of this.#jobs) {
      if (this.#jobs.size <= maxJobs && bytes <= maxBytes) return;
      // A slow client may still be reading it: it is let go of later.
      if (oldest.output.viewerCount > 0) continue;
      bytes -= oldest.output.heldBytes;
      oldest.output.clear();
      this.#jobs.delete(jobId);
    }
  }

  get(jobId: JobId): Job | undefined {
    return this.#jobs.get(jobId);
  }

  clear(): void {
    for (const job of this.#jobs.values()) job.output.clear();
    this.#jobs.clear();
  }

  #heldBytes(): number {
    let bytes = 0;
    for (const job of this.#jobs.values()) bytes += job.output.heldBytes;
    return bytes;
  }
}
