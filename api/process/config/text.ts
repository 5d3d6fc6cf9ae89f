import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'

// Flags and variables give text. These schemas take the text of a value and its JSON.

/** A setting that is on or off. */
export const flag = z.preprocess(
  (v) =>
    typeof v === 'string' && /^(true|1|yes|on)$/i.test(v)
      ? true
      : typeof v === 'string' && /^(false|0|no|off)$/i.test(v)
        ? false
        : v,
  z.boolean(),
)

export const int = (schema: z.ZodInt) =>
  z.preprocess((v) => (typeof v === 'string' && /^\d+$/.test(v) ? Number(v) : v), schema)

/** A list of texts, separated by commas in a variable. */
export const list = z.preprocess(
  (v) => (typeof v === 'string' ? v.split(',').map((item) => item.trim()) : v),
  z.array(z.string().min(1)),
)

export const absolutePaths = list.refine(
  (paths) => paths.every((path) => isAbsolute(path) && resolve(path) !== '/'),
  'expected absolute paths of files and folders; the root cannot be one',
)
