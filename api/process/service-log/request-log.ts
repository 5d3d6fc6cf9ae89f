import type { AnsweredRequest } from '../../http/request-record.ts'
import { operatorText } from '../../operations/notices.ts'
import type { ServiceLog } from './service-log.ts'

/** The most ids of failed requests that wait for their answer. */
const MOST_FAULTED = 1_000

/** The callbacks of an HTTP app that log its requests: errors with their cause, and each answer for debugging. */
export function requestLog(log: ServiceLog) {
  // The error of a request is logged with its cause, before its answer.
  const faulted = new Set<string>()
  return {
    onFault(error: unknown, path: string, requestId?: string) {
      if (requestId === undefined) return log.error(`${path}: ${operatorText(error)}`)
      if (faulted.size < MOST_FAULTED) faulted.add(requestId)
      log.error(`request ${requestId}: ${path}: ${operatorText(error)}`, { requestId })
    },
    onRequest({ method, path, status, ms, requestId, operation, principal }: AnsweredRequest) {
      const fields = { requestId, method, path, status, ms, operation, principal }
      const isNews = status >= 500 && !faulted.delete(requestId)
      log[isNews ? 'warn' : 'debug'](`request ${requestId}: ${method} ${path} ${status} in ${ms} ms`, fields)
    },
  }
}
