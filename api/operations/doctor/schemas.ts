import { z } from 'zod'

export const FindingsQuery = z.strictObject({
  machine: z.enum(['true', 'false']).default('true').meta({
    description:
      'The checks of the machine and of the data folder, which need the right `system.operate`. false: without them',
  }),
})

export const Findings = z
  .strictObject({
    findings: z
      .array(
        z.strictObject({
          check: z.string(),
          state: z.enum(['ok', 'warning', 'broken']),
          found: z.string(),
          todo: z.string().nullable().meta({ description: 'The remedy; null if the state is `ok`' }),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'Findings' })
