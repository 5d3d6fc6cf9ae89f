import { counted } from '../../projections/text.ts'
import { take } from './client.ts'
import type { Context } from './context.ts'

/** Whether a store holds; its proof is shown. */
export async function verifyStore(ctx: Context, store: string): Promise<boolean> {
  const client = await ctx.client('read')
  const proof = await take(client.v1['context-stores'][':store'].verify.$get({ param: { store } }))
  ctx.show(proof, () => [
    `store ${store}: ${proof.ok ? 'holds' : 'BROKEN'}, ${counted(proof.events, 'event')}, ${counted(proof.digests, 'digest')}, head ${proof.head}`,
    ...proof.erased.map((one) => `  revision ${one.revision} erased: ${one.reason}`),
    ...proof.problems.map((one) => `  revision ${one.revision} ${one.code}: ${one.message}`),
  ])
  return proof.ok
}
