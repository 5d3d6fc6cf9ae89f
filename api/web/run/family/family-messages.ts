import { useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import type { MessageView } from '../../../operations/messages/schemas.ts'
import { api } from '../../client/api.ts'
import { useLoaded } from '../../parts/loaded.tsx'

/** A page of the API. */
const PAGE = 500

interface FamilyMessages {
  readonly messages: readonly MessageView[]
  /** Reads ten times as many. Null: these are all messages. */
  readonly readMore: (() => void) | null
  readonly fault: string
}

const NONE: readonly MessageView[] = []

/** The first messages between the agents of a run. Reads them again when `round` changes. */
export function useMessages(runId: string, round: number): FamilyMessages {
  const [most, setMost] = useState(PAGE)
  const loaded = useLoaded(runId, () => readMessages(runId, most), `${round} ${most}`)
  if (loaded === null) return { messages: NONE, readMore: null, fault: '' }
  if ('fault' in loaded) return { messages: NONE, readMore: null, fault: loaded.fault }
  const { messages, isAll } = loaded.value
  return { messages, readMore: isAll ? null : () => setMost(10 * most), fault: '' }
}

async function readMessages(id: string, most: number): Promise<{ messages: readonly MessageView[]; isAll: boolean }> {
  const messages: MessageView[] = []
  let after: string | null = null
  do {
    const query: { limit: string; after?: string } = { limit: String(PAGE), ...(after !== null && { after }) }
    const page = await take(api.v1.runs[':id'].messages.$get({ param: { id }, query }))
    messages.push(...page.messages)
    after = page.next
  } while (after !== null && messages.length < most)
  return { messages, isAll: after === null }
}
