import { useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { api, errorText } from '../client/api.ts'
import { save } from './save.ts'

/** Downloads the proof that an event is in the log. */
export function ProofButton({ stream, revision }: { stream: string; revision: number }) {
  const [fault, setFault] = useState('')
  const download = async () => {
    try {
      const param = { stream, revision: String(revision) }
      const { file } = await take(api.v1.streams[':stream'].events[':revision'].proof.$get({ param }))
      save(`${stream}@${revision}.tlog-proof`, 'text/plain', file)
      setFault('')
    } catch (error) {
      setFault(errorText(error))
    }
  }
  return (
    <>
      <button type="button" class="link" title={`${stream}@${revision}.tlog-proof`} onClick={download}>
        proof
      </button>
      {fault !== '' && <span class="fault">{fault}</span>}
    </>
  )
}
