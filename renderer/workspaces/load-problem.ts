import { ApiProblem, problemText } from '../api/problem.ts';

/** Why a folder can't be a workspace, in words for the person who typed its path. */
export function loadProblemText(error: unknown): string {
  if (!(error instanceof ApiProblem)) return problemText(error);
  switch (error.code) {
    case 'project_path_missing':
      return 'There is no folder at this path.';
    case 'project_path_unreadable':
      return 'The daemon may not read this folder, or it is not a folder. Check its permissions.';
    case 'project_path_system':
      return `This folder can’t be a workspace: ${lowerFirst(error.message)}`;
    case 'invalid_request':
      return /absolute/i.test(detailOf(error)) ? 'Enter the whole path, from the root on.' : detailOf(error);
    default:
      return problemText(error);
  }
}

function detailOf(error: ApiProblem): string {
  return error.fields[0]?.message ?? error.message;
}

/** A path or an acronym at the beginning stays as it is. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
