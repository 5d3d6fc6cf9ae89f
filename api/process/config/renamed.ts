import type { Deprecation } from '../../operations/deprecation.ts'

/** The former names of settings, which work for one minor version more. `use`: the present name. */
export const RENAMED: Readonly<Record<string, Deprecation>> = {}
