import { useRef, useState } from 'preact/hooks'
import { refusal } from '../../../http/answers.ts'
import { errorText, send } from '../../client/api.ts'
import { shown } from '../../parts/shown.ts'

/** Bytes per request. */
const PART = 65_536

/** A long result. A person loads it part by part. */
export function WholeResult({ toolCallId, about }: { toolCallId: string; about: string }) {
  const [parts, setParts] = useState<readonly string[]>([])
  // A part may end inside a UTF-8 character.
  const utf8 = useRef(new TextDecoder())
  const [rest, setRest] = useState(true)
  const [fault, setFault] = useState('')
  const more = async () => {
    try {
      const from = parts.length * PART
      const range = `bytes=${from}-${from + PART - 1}`
      const answer = await send(`/v1/results/${encodeURIComponent(toolCallId)}`, { headers: { range } })
      if (!answer.ok) throw await refusal(answer)
      const size = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1] ?? 0)
      const isLast = from + PART >= size
      const text = utf8.current.decode(await answer.arrayBuffer(), { stream: !isLast })
      setParts([...parts, text])
      setRest(!isLast)
      setFault('')
    } catch (error) {
      setFault(errorText(error))
    }
  }
  return (
    <>
      {parts.map((part, i) => (
        <pre key={i} class="whole">
          <bdi class="foreign">{shown(part)}</bdi>
        </pre>
      ))}
      {fault !== '' && <p class="fault">{fault}</p>}
      {rest && (
        <button type="button" onClick={more}>
          {parts.length === 0 ? `Show ${about}` : 'Show more'}
        </button>
      )}
    </>
  )
}
