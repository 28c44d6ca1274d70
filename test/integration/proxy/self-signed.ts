import { generateKeyPairSync, sign } from 'node:crypto'

/** Object identifiers as DER has them (RFC 5758 §3.2, RFC 5280 §4.2.1, X.520). */
const ECDSA_WITH_SHA256 = '06082a8648ce3d040302'
const COMMON_NAME = '0603550403'
const SUBJECT_ALT_NAME = '0603551d11'
const BASIC_CONSTRAINTS = '0603551d13'

/** A fresh key and a certificate for `localhost` and 127.0.0.1 signed with it, both as PEM. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(0x30, hex(ECDSA_WITH_SHA256))
  const name = der(
    0x30,
    der(0x31, der(0x30, hex(COMMON_NAME), der(0x0c, Buffer.from('localhost')))),
  )
  const names = der(
    0x30,
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  )
  const extensions = der(
    0x30,
    der(0x30, hex(SUBJECT_ALT_NAME), der(0x04, names)),
    der(0x30, hex(BASIC_CONSTRAINTS), der(0x04, der(0x30, hex('0101ff')))),
  )
  const contents = der(
    0x30,
    hex('a003020102'),
    hex('020101'),
    algorithm,
    name,
    der(0x30, ...['20200101000000Z', '29991231235959Z'].map(at => der(0x18, Buffer.from(at)))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = sign('sha256', contents, privateKey)
  const certificate = der(0x30, contents, algorithm, der(0x03, Buffer.from([0]), signature))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  }
}

/** A value with its tag and length (X.690 §8.1), shorter than 64 KiB. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts)
  const { length } = value
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}
