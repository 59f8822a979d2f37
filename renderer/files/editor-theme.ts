import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The panel's own colours, which are light or dark by themselves. */
export const editorTheme: Extension = [
  EditorView.theme({
    '&': { height: '100%', backgroundColor: 'var(--log)', color: 'var(--log-text)', fontSize: '12px' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', fontVariantLigatures: 'none' },
    '.cm-content': { padding: '8px 0', caretColor: 'var(--accent)' },
    '.cm-line': { padding: '0 16px 0 8px' },
    '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      backgroundColor: 'var(--editor-selection)',
    },
    '.cm-activeLine': { backgroundColor: 'var(--hover)' },
    '.cm-gutters': { backgroundColor: 'var(--log)', color: 'var(--log-number)', border: 'none' },
    '.cm-lineNumbers .cm-gutterElement': { padding: '0 4px 0 14px', minWidth: '44px' },
    '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
    '.cm-foldGutter .cm-gutterElement': { color: 'var(--faint)' },
    '.cm-foldPlaceholder': {
      backgroundColor: 'var(--selected)',
      border: 'none',
      color: 'var(--muted)',
      padding: '0 4px',
    },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
      backgroundColor: 'var(--selected)',
      outline: '1px solid var(--line-strong)',
    },
    '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--danger-soft)' },
    '.cm-selectionMatch': { backgroundColor: 'var(--selected)' },
    '.cm-searchMatch': { backgroundColor: 'var(--mark)' },
    '.cm-searchMatch.cm-searchMatch-selected': { backgroundColor: 'var(--mark-current)', color: '#1a1a1e' },
    '.cm-panels': {
      backgroundColor: 'var(--inset)',
      color: 'var(--text)',
      fontFamily: 'var(--font-sans)',
      zIndex: '5',
    },
    '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
    '.cm-panel.cm-search': { padding: '8px 40px 8px 12px', fontSize: '13px' },
    '.cm-panel.cm-search label': {
      display: 'inline-block',
      marginLeft: '8px',
      fontSize: '12px',
      color: 'var(--muted)',
    },
    '.cm-panel.cm-search input[type=checkbox]': { margin: '0 5px 0 0', verticalAlign: '-2px' },
    '.cm-panel.cm-search label::first-letter, .cm-panel.cm-search .cm-button::first-letter': {
      textTransform: 'uppercase',
    },
    '.cm-panel.cm-search [name=close]': {
      top: '8px',
      right: '10px',
      width: '24px',
      height: '24px',
      fontSize: '18px',
      color: 'var(--muted)',
    },
    '.cm-textfield': {
      height: '26px',
      padding: '0 8px',
      fontSize: '12px',
      fontFamily: 'var(--font-mono)',
      backgroundColor: 'var(--surface)',
      border: '1px solid var(--line-strong)',
      borderRadius: '6px',
      color: 'var(--text)',
    },
    '.cm-button': {
      height: '26px',
      padding: '0 9px',
      fontSize: '12px',
      backgroundImage: 'none',
      backgroundColor: 'var(--raised)',
      border: '1px solid var(--line-strong)',
      borderRadius: '6px',
      color: 'var(--text)',
    },
    '.cm-tooltip': {
      backgroundColor: 'var(--raised)',
      border: '1px solid var(--line-strong)',
      borderRadius: '8px',
      overflow: 'hidden',
      boxShadow: '0 8px 28px -6px var(--shadow)',
    },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      backgroundColor: 'var(--selected)',
      color: 'var(--text)',
    },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.comment, tags.meta], color: 'var(--faint)', fontStyle: 'italic' },
      { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--ansi-5)' },
      { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--ansi-2)' },
      { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit], color: 'var(--ansi-3)' },
      { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--ansi-4)' },
      { tag: [tags.typeName, tags.className, tags.namespace], color: 'var(--ansi-6)' },
      { tag: [tags.tagName, tags.macroName], color: 'var(--ansi-1)' },
      { tag: [tags.attributeName, tags.propertyName, tags.labelName], color: 'var(--ansi-12)' },
      { tag: [tags.link, tags.url], color: 'var(--accent)', textDecoration: 'underline' },
      { tag: tags.heading, fontWeight: '600', color: 'var(--accent)' },
      { tag: tags.strong, fontWeight: '600' },
      { tag: tags.emphasis, fontStyle: 'italic' },
      { tag: tags.strikethrough, textDecoration: 'line-through' },
      { tag: tags.invalid, color: 'var(--danger-text)' },
    ]),
  ),
];
