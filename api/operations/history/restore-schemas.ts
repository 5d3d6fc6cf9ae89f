import { z } from 'zod'
import { By } from '../schemas.ts'

const count = z.int().nonnegative()
const Tree = z.string().regex(/^[0-9a-f]{64}$/, { error: 'expected the id of a tree: 64 hexadecimal digits' })

/** A step (0: before the run), or a tree that an earlier restore stored. `dryRun`: only report the changes. */
export const RestoreBody = z
  .strictObject({
    step: count.optional(),
    tree: Tree.optional(),
    dryRun: z.boolean().default(false),
    expected: Tree.optional().meta({ description: 'Only if the files are still those that a dry run showed' }),
    by: By.optional(),
    reason: z.string().min(1).optional(),
  })
  .refine((b) => (b.step === undefined) !== (b.tree === undefined), { error: 'give either step or tree' })
  .meta({ id: 'Restore' })
