import { useRef } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go, query } from '../page/router.ts'
import { at } from '../run/position.ts'
import { run } from './command.ts'

/** Forks the run at the page's position. */
export function ForkForm({ runId, onDone }: { runId: string; onDone: () => void }) {
  const dollars = useRef<HTMLInputElement>(null)
  const drive = useRef<HTMLInputElement>(null)
  const place = at.value
  const send = async (event: Event) => {
    event.preventDefault()
    const usd = Number(dollars.current?.value || Number.NaN)
    const agent = query.value.get('agent')
    const json = {
      by: person(),
      drive: drive.current?.checked ?? true,
      ...(place === null ? {} : { event: place }),
      ...(agent === null ? {} : { agent }),
      ...(usd > 0 ? { budget: { nanoDollars: Math.round(usd * 1e9) } } : {}),
    }
    await run('Forked.', async () => {
      const made = await take(api.v1.runs[':id'].fork.$post({ param: { id: runId }, header: asOne(), json }))
      onDone()
      go(`/runs/${made.runId}`)
    })
  }
  return (
    <form class="form" onSubmit={send}>
      <p>
        A new run whose history up to {place === null ? 'the end' : `event ${place}`} is that of this one. It works in a
        folder of its own.
      </p>
      <label>
        Budget $ <input ref={dollars} class="narrow" inputMode="decimal" placeholder="as this run" />
      </label>
      <label>
        <input ref={drive} type="checkbox" defaultChecked /> let it go on at once
      </label>
      <button type="submit" class="main">
        Fork
      </button>
    </form>
  )
}
