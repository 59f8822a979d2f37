/** Encodes a text character by character, so that the form of a part is a part of the form of the whole. */
type Encoder = (text: string) => string;

/** What no encoder changes. */
export const plainText = /^[\w.-]*$/;
const printableAscii = /^[ -~]*$/;

/** The text as it is, as JSON writers print it inside a string, and as shells quote it. */
export function escapedForms(text: string): string[] {
  if (plainText.test(text)) return [text];
  const forms = [text, ...encoders.map((encode) => encode(text))];
  if (!printableAscii.test(text)) forms.push(...otherCharacterEncoders.map((encode) => encode(text)));
  return forms;
}

const json: Encoder = (text) => JSON.stringify(text).slice(1, -1);
const withSlash: Encoder = (text) => text.replaceAll('/', '\\/');
const asciiOnly: Encoder = (text) => text.replace(/[\u0080-\uffff]/g, unicodeEscape);
const asciiPrintable: Encoder = (text) => text.replace(/[^ -~]/g, unicodeEscape);
const upperEscapes: Encoder = (text) =>
  text.replace(/\\(?:u[0-9a-f]{4}|.)/g, (code) =>
    code.length === 2 ? code : `\\u${code.slice(2).toUpperCase()}`,
  );

const jsonEncoders: readonly Encoder[] = [
  json,
  (text) => withSlash(json(text)),
  // Go's encoding/json
  (text) => json(text).replace(/[<>&\u2028\u2029]/g, unicodeEscape),
  // .NET's System.Text.Json
  (text) =>
    upperEscapes(
      json(text)
        .replaceAll('\\"', '\\u0022')
        .replace(/[<>&'+`\u007f-\uffff]/g, unicodeEscape),
    ),
];
const jsonAsciiEncoders: readonly Encoder[] = [
  // Python's json.dumps
  (text) => asciiPrintable(json(text)),
  (text) => upperEscapes(asciiPrintable(json(text))),
  (text) => asciiOnly(json(text)),
  (text) => upperEscapes(asciiOnly(json(text))),
  // PHP's json_encode
  (text) => withSlash(asciiOnly(json(text))),
  (text) => upperEscapes(withSlash(asciiOnly(json(text)))),
];

function unicodeEscape(unit: string): string {
  return `\\u${hexOf(unit.charCodeAt(0), 4)}`;
}

const inSingleQuotes: Encoder = (text) => text.replaceAll("'", "'\\''");
const inDoubleQuotes: Encoder = (text) => text.replace(/["$`\\]/g, '\\$&');
/** bash's printf %q. */
const backslashed: Encoder = (text) => text.replace(/[ '"\\|&;()<>!{}*[?\]^$`,]|(?<=[:=])~/g, '\\$&');

const ansiNames = new Map([
  ['\u0007', 'a'],
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\v', 'v'],
  ['\f', 'f'],
  ['\r', 'r'],
  ['\u001b', 'E'],
  ["'", "'"],
  ['\\', '\\'],
]);

/** bash's $'…': which characters it writes in octal is the locale's to say. */
const inAnsiQuotes: Encoder = (text) => text.replace(/['\\\p{Cc}]/gu, ansiEscape);
const inAnsiQuotesUnassigned: Encoder = (text) => text.replace(/['\\\p{C}\p{Zl}\p{Zp}]/gu, ansiEscape);
const inAnsiQuotesAscii: Encoder = (text) => text.replace(/['\\]|[^ -~]/gu, ansiEscape);

function ansiEscape(character: string): string {
  const name = ansiNames.get(character);
  if (name !== undefined) return `\\${name}`;
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

const shellEncoders: readonly Encoder[] = [
  inSingleQuotes,
  // Python's shlex.quote
  (text) => text.replaceAll("'", `'"'"'`),
  // dash, which opens no quotes that it would close at once
  (text) => text.replace(/'+/g, `'"$&"'`).replace(/^'(?=")|(?<=")'$/g, ''),
  inDoubleQuotes,
  (text) => inDoubleQuotes(text).replaceAll('!', '\\!'),
  backslashed,
  (text) => backslashed(text).replace(/^[~#]/, '\\$&'),
  inAnsiQuotes,
];

/** As Python's repr and Node's inspect print a string; which quotes they escape depends on the others in it. */
const pythonEncoders: readonly Encoder[] = [
  (text) => text.replace(/[\\\p{Cc}]/gu, pythonEscape),
  (text) => text.replace(/['\\\p{Cc}]/gu, pythonEscape),
];
const nodeEncoders: readonly Encoder[] = [
  (text) => text.replace(/[\\\p{Cc}]/gu, nodeEscape),
  (text) => text.replace(/['\\\p{Cc}]/gu, nodeEscape),
];

function pythonEscape(character: string): string {
  return "tnr'\\".includes(ansiNames.get(character) ?? '-')
    ? `\\${ansiNames.get(character)}`
    : `\\x${hexOf(character.charCodeAt(0), 2)}`;
}

function nodeEscape(character: string): string {
  const name = ansiNames.get(character) ?? '-';
  return "btnvfr'\\".includes(name) ? `\\${name}` : `\\x${hexOf(character.charCodeAt(0), 2).toUpperCase()}`;
}

const encoders: readonly Encoder[] = [...jsonEncoders, ...shellEncoders, ...pythonEncoders];
/** They differ from those in what is not printable ASCII. */
const otherCharacterEncoders: readonly Encoder[] = [
  ...jsonAsciiEncoders,
  inAnsiQuotesUnassigned,
  inAnsiQuotesAscii,
  ...nodeEncoders,
];

function hexOf(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
