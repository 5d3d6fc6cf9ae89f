/** A JSON value that RFC 8785 can serialise: finite numbers, well-formed strings, no undefined. */
export type Json = null | boolean | number | string | Json[] | JsonObject

/** An object of JSON values. */
export interface JsonObject {
  [key: string]: Json
}

/** An object whose members are all JSON. The compiler cannot see this for an interface, which has no index signature. */
export const asJson = (value: object): JsonObject => value as JsonObject
