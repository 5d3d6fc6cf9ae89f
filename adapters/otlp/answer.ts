import { bytesField, integerField } from './wire.ts'

/** The encodings of OTLP/HTTP. An answer has the encoding of its request. */
export type OtlpEncoding = 'protobuf' | 'json'

export const OTLP_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

/** The body of a success: ExportTraceServiceResponse. `message`: why spans are rejected; empty: none is. */
export function traceResponse(encoding: OtlpEncoding, rejected: number, message: string): Uint8Array | string {
  const isWhole = rejected === 0 && message === ''
  if (encoding === 'json')
    return JSON.stringify(isWhole ? {} : { partialSuccess: { rejectedSpans: String(rejected), errorMessage: message } })
  if (isWhole) return new Uint8Array()
  return bytesField(1, Buffer.concat([integerField(1, rejected), bytesField(2, message)]))
}

/** The body of a refusal: google.rpc.Status. `code`: the gRPC code. */
export const statusResponse = (encoding: OtlpEncoding, code: number, message: string): Uint8Array | string =>
  encoding === 'json'
    ? JSON.stringify({ code, message })
    : Buffer.concat([integerField(1, code), bytesField(2, message)])
