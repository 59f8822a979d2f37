import { CodedError } from '../contract/errors.ts';
import type { SearchResult, TreePage } from '../contract/files.ts';
import type { Answer } from '../http/route.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { statInside } from '../lib/confined-reads.ts';
import { IgnoreRules } from '../lib/ignore-rules.ts';
import { LinkLoopError } from '../lib/resolve-inside.ts';
import { answerFile, type ReadConditions } from './answer-file.ts';
import { asFileError } from './file-errors.ts';
import { type ListOptions, listFiles } from './list-files.ts';
import { fileNotFound, locate, locateFile, textOf } from './locate.ts';
import { HashCache, openContent } from './read-file.ts';
import { findRipgrep } from './ripgrep.ts';
import { searchFiles } from './search-files.ts';
import type { SearchQuery } from './search-query.ts';

/** What was looked at may have been overtaken by an editor this many times before the caller is told. */
const maxTries = 4;

/** The calls that only look at files. `root` is the workspace's real path. */
export class FileReads {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #hashes = new HashCache();
  #ripgrep: string | null | undefined;

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  /** @throws CodedError folder_not_found, path_outside_workspace, path_reserved, invalid_request, conflict */
  list(
    root: string,
    { path, ...options }: Omit<ListOptions, 'folder' | 'rules'> & { readonly path: string },
  ): Promise<TreePage> {
    return retried(() => {
      const folder = locate(root, path, 'follow');
      const rules = new IgnoreRules(root, { environment: this.#environment });
      return listFiles(root, { ...options, folder, rules });
    });
  }

  /** @throws CodedError file_not_found, not_a_file, file_too_large, path_outside_workspace, path_reserved, conflict */
  content(
    root: string,
    requested: string,
    conditions: ReadConditions,
  ): Promise<Answer | { readonly unsatisfiable: CodedError; readonly size: number }> {
    return retried(async () => {
      const path = locateFile(root, requested, 'follow');
      const content = await openContent(root, path, this.#hashes);
      const answer = answerFile(content, textOf(path), conditions);
      if (answer !== 'unsatisfiable') return answer;
      const { size } = content;
      const detail = `The file has ${size} bytes; the range is not among them.`;
      return { size, unsatisfiable: new CodedError('range_not_satisfiable', detail, { members: { size } }) };
    });
  }

  /** @throws CodedError invalid_request, file_not_found, path_outside_workspace, path_reserved, conflict */
  search(root: string, { path, ...query }: SearchQuery): Promise<SearchResult> {
    return retried(() => {
      const place = locate(root, path, 'follow');
      if (place !== '' && statInside(root, place) === null) throw fileNotFound(place);
      this.#ripgrep ??= findRipgrep(this.#environment);
      const tools = { ripgrep: this.#ripgrep, environment: this.#environment };
      return searchFiles(root, { ...query, path: place }, tools);
    });
  }
}

async function retried<T>(work: () => T | Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LinkLoopError)
        throw new CodedError('file_not_found', 'The links of this path lead in a circle.', { cause: error });
      if (!(error instanceof PathChangedError) || tries === maxTries) throw asFileError(error);
    }
  }
}
