export type Area = { x: number; y: number; width: number; height: number };
export type WindowPlace = Area & { maximized: boolean };

export const smallestWindow = { width: 900, height: 600 } as const;
const usual = { width: 1280, height: 820 } as const;

/** Of a remembered window this much must be on a display, in each direction, for the user to grab it. */
const graspPx = 100;

/**
 * Where to put the window: where it was, if that is still on one of the displays; else of the size it had,
 * centred by the system. Sizes are kept between the smallest window and the display's work area.
 */
export function placeWindow(
  remembered: WindowPlace | null,
  workAreas: readonly Area[],
): { width: number; height: number; x?: number; y?: number } {
  if (remembered === null) return fitSize(usual, workAreas[0]);
  const home = workAreas.find((area) => isGraspable(remembered, area));
  if (home === undefined) return fitSize(remembered, workAreas[0]);
  return { ...fitSize(remembered, home), x: remembered.x, y: remembered.y };
}

/** The title bar's strip has to be reachable: its top inside the area, and enough of its width. */
function isGraspable(window: Area, area: Area): boolean {
  const left = Math.max(window.x, area.x);
  const right = Math.min(window.x + window.width, area.x + area.width);
  return right - left >= graspPx && window.y >= area.y && window.y <= area.y + area.height - graspPx;
}

function fitSize(
  size: { width: number; height: number },
  area: Area | undefined,
): { width: number; height: number } {
  return {
    width: Math.max(smallestWindow.width, Math.min(size.width, area?.width ?? size.width)),
    height: Math.max(smallestWindow.height, Math.min(size.height, area?.height ?? size.height)),
  };
}
