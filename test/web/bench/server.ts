import { serve } from '../../support/browser/served.ts'

// A server over a data folder in a process of its own, as `keepup serve` is, which the bench of the page asks by messages.

export type ToServer =
  | { readonly ask: 'link' | 'streams' | 'close' }
  | { readonly ask: 'wait'; readonly runs: number }
  | { readonly ask: 'turns' }

const [data = ''] = process.argv.slice(2)
const served = await serve({ data })
const runs: string[] = []

async function answer(message: ToServer): Promise<unknown> {
  switch (message.ask) {
    case 'link':
      return (await served.ask<{ url: string }>('POST', '/v1/session/codes', { by: 'bench' })).url
    case 'streams':
      return served.streams()
    case 'wait':
      // Each looks for a sign that never comes, turn after turn.
      for (let n = 0; n < message.runs; n++) runs.push(await served.start('wait', { workspace: served.workspace() }))
      return runs
    case 'turns': {
      const turns = runs.map(
        async (id) => (await served.ask<{ run: { turn: number } }>('GET', `/v1/runs/${id}`)).run.turn,
      )
      return { at: performance.now(), turns: (await Promise.all(turns)).reduce((sum, n) => sum + n, 0) }
    }
    case 'close':
      for (const id of runs) await served.ask('POST', `/v1/runs/${id}/cancel`, {})
      return served.close()
  }
}

process.on('message', async ({ id, message }: { id: number; message: ToServer }) => {
  try {
    process.send!({ id, value: (await answer(message)) ?? null })
  } catch (error) {
    process.send!({ id, fault: String(error) })
  }
  if (message.ask === 'close') process.exit(0)
})
process.send!({ id: 0, value: { url: served.url } })
