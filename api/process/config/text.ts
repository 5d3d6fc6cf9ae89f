import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'

// Flags and variables give text. These schemas accept the text of a value as well as its JSON.

/** A boolean setting. */
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

/** A list of texts. A variable separates them by commas. */
export const textList = z.preprocess(
  (v) => (typeof v === 'string' ? v.split(',').map((item) => item.trim()) : v),
  z.array(z.string().min(1)),
)

export const absolutePaths = textList.refine(
  (paths) => paths.every((path) => isAbsolute(path) && resolve(path) !== '/'),
  'expected absolute paths of files and folders; the root cannot be one',
)
