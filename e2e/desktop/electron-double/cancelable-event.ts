/** An event that a listener can prevent, with Electron's `defaultPrevented` and `preventDefault`. */
export function cancelableEvent<Details extends object>(details: Details) {
  const event = {
    ...details,
    defaultPrevented: false,
    preventDefault: () => {
      event.defaultPrevented = true;
    },
  };
  return event;
}
