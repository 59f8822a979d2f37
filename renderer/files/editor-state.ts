import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  LanguageDescription,
} from '@codemirror/language';
import { languages } from '@codemirror/language-data';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  crosshairCursor,
  drawSelection,
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  rectangularSelection,
} from '@codemirror/view';
import { editorTheme } from './editor-theme.ts';
import { lineBreaksOf } from './line-breaks.ts';
import type { OpenFile } from './open-file.ts';

const languageSlot = new Compartment();

/**
 * The state an editor begins with. It outlives that editor, so what it calls is asked of the file each time. Texts with
 * mixed line breaks keep each of them: CR counts as a character there.
 */
export function createEditorState(file: OpenFile, path: string): EditorState {
  const { text } = file.snapshot().base;
  const save = () => {
    file.editor?.save();
    return true;
  };
  return EditorState.create({
    doc: text,
    extensions: [
      features,
      ...(lineBreaksOf(text) === 'mixed' ? [EditorState.lineSeparator.of('\n')] : []),
      keymap.of([
        { key: 'Mod-s', preventDefault: true, run: save },
        ...searchKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...foldKeymap,
        indentWithTab,
      ]),
      languageSlot.of([]),
      editorTheme,
      EditorView.contentAttributes.of({ 'aria-label': `Text of ${path}` }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) file.editor?.changed();
      }),
    ],
  });
}

const features: Extension = [
  lineNumbers(),
  foldGutter(),
  highlightActiveLineGutter(),
  highlightActiveLine(),
  highlightSpecialChars(),
  highlightSelectionMatches(),
  history(),
  drawSelection(),
  dropCursor(),
  EditorState.allowMultipleSelections.of(true),
  rectangularSelection(),
  crosshairCursor(),
  indentOnInput(),
  bracketMatching(),
  search({ top: true }),
];

/** Colours the text by the language its file name tells, once that language is loaded. */
export async function applyLanguage(view: EditorView, path: string): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const language = LanguageDescription.matchFilename(languages, name);
  if (language === null) return;
  const support = await language.load();
  view.dispatch({ effects: languageSlot.reconfigure(support) });
}

/** The smallest single change that makes `next` of the text: what is around it keeps its place in sight. */
export function replacement(current: string, next: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(current.length, next.length);
  let start = 0;
  while (start < shorter && current[start] === next[start]) start++;
  let end = 0;
  while (end < shorter - start && current.at(-1 - end) === next.at(-1 - end)) end++;
  return { from: start, to: current.length - end, insert: next.slice(start, next.length - end) };
}
