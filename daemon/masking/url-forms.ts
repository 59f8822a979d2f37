import { plainText } from './escaped-forms.ts';

/** The text as it stands in a URL or a form, by the usual libraries. */
export function urlForms(text: string): string[] {
  if (plainText.test(text)) return [text];
  return urlUnsafe.flatMap((unsafe) => {
    const percented = [text.replace(unsafe, upperPercented), text.replace(unsafe, lowerPercented)];
    return text.includes(' ')
      ? [...percented, ...percented.map((form) => form.replaceAll('%20', '+'))]
      : percented;
  });
}

/** Each matches what it encodes; a space may become `%20` or, in a form, `+`. */
const urlUnsafe = [
  // encodeURIComponent
  /[^A-Za-z0-9\-_.!~*'()]/gu,
  // Python's quote
  /[^A-Za-z0-9\-_.~/]/gu,
  // RFC 3986, Python's quote_plus
  /[^A-Za-z0-9\-_.~]/gu,
  // WHATWG forms, Java
  /[^A-Za-z0-9\-_.*]/gu,
  // PHP's urlencode
  /[^A-Za-z0-9\-_.]/gu,
  // encodeURI
  /[^A-Za-z0-9\-_.!~*'();/?:@&=+$,#]/gu,
];

const upperPercents = Array.from({ length: 128 }, (_, byte) => percentsOf(byte).toUpperCase());
const lowerPercents = upperPercents.map((code) => code.toLowerCase());

function upperPercented(character: string): string {
  return upperPercents[character.charCodeAt(0)] ?? lowerPercented(character).toUpperCase();
}

function lowerPercented(character: string): string {
  return lowerPercents[character.charCodeAt(0)] ?? percentsOf(...Buffer.from(character));
}

function percentsOf(...bytes: number[]): string {
  return bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
