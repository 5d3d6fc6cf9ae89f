import { useEffect, useMemo } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import { api, errorText } from '../../client/api.ts'
import { listen } from '../../client/feed.ts'
import { FamilyMessages, PAGE } from './family-messages.ts'

/** The messages between the agents of a run, with live updates. */
export function useMessages(runId: string): FamilyMessages {
  const messages = useMemo(() => new FamilyMessages((after) => readPage(runId, after), errorText), [runId])
  useEffect(() => {
    const leave = listen({
      event: (event) => event.runId === runId && messages.hear(event),
      connected: () => messages.again(),
    })
    return () => {
      leave()
      messages.end()
    }
  }, [messages])
  return messages
}

const readPage = (id: string, after: string | undefined) =>
  take(
    api.v1.runs[':id'].messages.$get({
      param: { id },
      query: { limit: String(PAGE), ...(after !== undefined && { after }) },
    }),
  )
