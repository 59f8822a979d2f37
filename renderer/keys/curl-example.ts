/** A call that runs a command in a workspace, to paste into a shell. Without a key it is read from the environment. */
export function curlExample({ workspaceId, key }: { workspaceId: string | undefined; key?: string }): string {
  return [
    `curl -N ${location.origin}/api/shell/run`,
    `  -H "Authorization: Bearer ${key ?? '$TALLYSTICK_KEY'}"`,
    ...(workspaceId === undefined ? [] : [`  -H "X-Workspace-Id: ${workspaceId}"`]),
    '  -H "Content-Type: application/json"',
    `  -d '{"cmd":"git status --short"}'`,
  ].join(' \\\n');
}
