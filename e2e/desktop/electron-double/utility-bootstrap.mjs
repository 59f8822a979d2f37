// Runs a script the way a utility process does: `process.parentPort` in place, and no life of its own
// once the process that started it is gone.
import { pathToFileURL } from 'node:url';

const [, , entry, ...args] = process.argv;
process.argv = [process.argv[0], entry, ...args];

const listeners = new Map();
process.parentPort = {
  on(event, listener) {
    const wrapped = (data) => listener({ data, ports: [] });
    listeners.set(listener, wrapped);
    process.on(event, wrapped);
    return this;
  },
  once(event, listener) {
    process.once(event, (data) => listener({ data, ports: [] }));
    return this;
  },
  off(event, listener) {
    process.off(event, listeners.get(listener) ?? listener);
    return this;
  },
  postMessage(message) {
    if (process.connected) sendToParent(message);
  },
};
const sendToParent = process.send.bind(process);
// A utility process has no `process.send`; code that would use it must not find it here.
process.send = undefined;
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

await import(pathToFileURL(entry).href);
