/** A JSON value that RFC 8785 can serialise: finite numbers, well-formed strings, no undefined. */
export type Json = null | boolean | number | string | Json[] | JsonObject

export interface JsonObject {
  [key: string]: Json
}
