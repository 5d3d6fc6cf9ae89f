import type { Deprecation } from '../../operations/deprecation.ts'

/** The former names of settings, which work for one minor version after the one that deprecates them. `use`: the present name. */
export const RENAMED: Readonly<Record<string, Deprecation>> = {}
