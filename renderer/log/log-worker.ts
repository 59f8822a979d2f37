import { LogDesk } from './log-desk.ts';
import type { ToLogWorker } from './log-protocol.ts';

const channel = new MessageChannel();
let resume: (() => void)[] = [];
channel.port1.onmessage = () => {
  const waiting = resume;
  resume = [];
  for (const go of waiting) go();
};

const desk = new LogDesk({
  send: (message) => postMessage(message),
  // A message to oneself comes after the messages already waiting, and without the timers' four milliseconds.
  breathe: () =>
    new Promise((go) => {
      resume.push(go);
      channel.port2.postMessage(null);
    }),
});

addEventListener('message', (event: MessageEvent<ToLogWorker>) => desk.handle(event.data));
