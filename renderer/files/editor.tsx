import { EditorState, type Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { applyLanguage, createEditorState, replacement } from './editor-state.ts';
import { lineBreaksOf, withLineBreaks } from './line-breaks.ts';
import type { OpenFile } from './open-file.ts';

type EditorProps = { file: OpenFile; path: string; line: number | undefined; onSave: () => void };

/** A CodeMirror editor on an open file: a chunk of its own, fetched with the first file that is opened. */
export default function Editor({ file, path, line, onSave }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const shown = useRef<EditorView>(null);
  const save = useRef(onSave);
  save.current = onSave;

  useEffect(() => {
    if (host.current === null) return;
    const view = openEditor(host.current, file, path, () => save.current());
    shown.current = view;
    return () => {
      file.left = view.state;
      file.editor = undefined;
      shown.current = null;
      view.destroy();
    };
  }, [file, path]);

  useEffect(() => {
    const view = shown.current;
    if (view === null || line === undefined) return;
    const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
    view.dispatch({
      selection: { anchor: at.from },
      effects: EditorView.scrollIntoView(at.from, { y: 'center' }),
    });
    view.focus();
  }, [line]);

  return <div ref={host} className="h-full min-h-0" />;
}

function openEditor(host: HTMLElement, file: OpenFile, path: string, onSave: () => void): EditorView {
  const state = file.left instanceof EditorState ? file.left : createEditorState(file, path);
  const view = new EditorView({ parent: host, state });
  let base: string | undefined;
  let saved: Text | undefined;
  const breaks = () => lineBreaksOf(file.snapshot().base.text);
  file.editor = {
    read: () => withLineBreaks(view.state.doc.toString(), breaks()),
    replace: (text) => {
      const keepsEach = view.state.facet(EditorState.lineSeparator) !== undefined;
      // A state that takes CR LF for one line break can not hold a text that has both kinds.
      if (!keepsEach && breaks() === 'mixed') view.setState(createEditorState(file, path));
      else
        view.dispatch({
          changes: replacement(view.state.doc.toString(), view.state.toText(text).toString()),
        });
    },
    changed: () => {
      const { text } = file.snapshot().base;
      if (saved === undefined || text !== base) saved = view.state.toText(text);
      base = text;
      file.edited(!view.state.doc.eq(saved));
    },
    save: onSave,
  };
  void applyLanguage(view, path);
  return view;
}
