import type { Client } from 'ssh2';
import { certificateSuffix } from '../host-keys/host-certificate.ts';

/** Lets a host prove itself by a certificate, which ssh2 does not know. */
export interface CertificateExchange {
  /** In ssh2's host verifier: the certificate offered is in order, and `key` is the key that it certifies. */
  certified(key: Buffer): void;
}

/**
 * Offers certificate algorithms to the host before the plain ones. To be called right after `client.connect`, before
 * the event loop turns: what is offered is sent when the host has introduced itself.
 *
 * ssh2 takes host key and signature to be of one type. In an exchange with a certificate the host key is the
 * certificate, which goes into the exchange's hash as it came, and the signature is by the key inside it (PROTOCOL.certkeys).
 * So three fields of ssh2's key exchange object are set: the negotiated name (that of the host key's type until ssh2
 * has compared it, that of the signature from then on), and the host key, between the hash and the check of the
 * signature, of which the call of `getPublicKey` lies in between. Should a version of ssh2 do these in another order,
 * the hash is over the wrong bytes and the signature does not verify: the exchange can fail, but it can't succeed with
 * a host that has not signed with the certified key. ssh2 itself still checks the signature.
 *
 * @throws Error where ssh2 is not as this code knows it
 */
export function offerCertificates(client: Client, algorithms: readonly string[]): CertificateExchange {
  const protocol: unknown = Reflect.get(client, '_protocol');
  if (!isProtocol(protocol)) throw new Error('this version of ssh2 can not be taught host certificates');
  const { lists } = protocol._offer;
  const listsOf = ({ cipher, mac, compress, lang }: Direction) => ({
    cipher: cipher.array,
    mac: mac.array,
    compress: compress.array,
    lang: lang.array,
  });
  protocol._offer = new protocol._offer.constructor({
    kex: lists.kex.array,
    serverHostKey: [...algorithms, ...lists.serverHostKey.array],
    cs: listsOf(lists.cs),
    sc: listsOf(lists.sc),
  });
  const current = followExchanges(protocol);
  return { certified: (key) => current()?.certified(key) };
}

/** Every exchange, the first one and those that renew the keys, is a new object. */
function followExchanges(protocol: Protocol): () => CertificateExchange | undefined {
  let exchange: unknown;
  let adapted: CertificateExchange | undefined;
  Object.defineProperty(protocol, '_kex', {
    configurable: true,
    enumerable: true,
    get: () => exchange,
    set(next: unknown) {
      exchange = next;
      adapted = isKeyExchange(next) ? adaptExchange(next) : undefined;
    },
  });
  return () => adapted;
}

function adaptExchange(exchange: KeyExchange): CertificateExchange | undefined {
  const { negotiated, getPublicKey } = exchange;
  const algorithm = negotiated.serverHostKey;
  if (!algorithm.endsWith(certificateSuffix)) return undefined;
  const signedWith = algorithm.slice(0, -certificateSuffix.length);
  const keyType = signedWith.startsWith('rsa-') ? 'ssh-rsa' : signedWith;
  negotiated.serverHostKey = `${keyType}${certificateSuffix}`;
  return {
    certified(key) {
      negotiated.serverHostKey = signedWith;
      exchange.getPublicKey = () => {
        exchange._hostKey = key;
        return getPublicKey.call(exchange);
      };
    },
  };
}

interface List {
  array: string[];
}
interface Direction {
  cipher: List;
  mac: List;
  compress: List;
  lang: List;
}
interface Offer {
  constructor: new (lists: object) => Offer;
  lists: { kex: List; serverHostKey: List; cs: Direction; sc: Direction };
}
interface Protocol {
  _offer: Offer;
}
interface KeyExchange {
  negotiated: { serverHostKey: string };
  _hostKey: Buffer | undefined;
  getPublicKey: () => Buffer;
}

function isProtocol(value: unknown): value is Protocol {
  const offer = fieldOf(value, '_offer');
  const lists = fieldOf(offer, 'lists');
  const inDirection = (name: string) =>
    ['cipher', 'mac', 'compress', 'lang'].every((list) => isList(fieldOf(fieldOf(lists, name), list)));
  return (
    typeof fieldOf(offer, 'constructor') === 'function' &&
    isList(fieldOf(lists, 'kex')) &&
    isList(fieldOf(lists, 'serverHostKey')) &&
    inDirection('cs') &&
    inDirection('sc')
  );
}

function isKeyExchange(value: unknown): value is KeyExchange {
  const named = typeof fieldOf(fieldOf(value, 'negotiated'), 'serverHostKey') === 'string';
  return named && typeof fieldOf(value, 'getPublicKey') === 'function';
}

function isList(value: unknown): boolean {
  return Array.isArray(fieldOf(value, 'array'));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
