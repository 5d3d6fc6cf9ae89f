/** A JSON value as RFC 8785 can write it: finite numbers, well-formed strings, no undefined. */
export type Json = null | boolean | number | string | Json[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  [key: string]: Json
}
