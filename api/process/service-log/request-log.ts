import type { AnsweredRequest } from '../../http/request-record.ts'
import { operatorText } from '../../operations/notices.ts'
import type { ServiceLog } from './service-log.ts'

/** The callbacks of an HTTP app that log its requests. Answers of 500 and above are errors, all others are for debugging. */
export function requestLog(log: ServiceLog) {
  return {
    onFault: (error: unknown, path: string, requestId?: string) =>
      log.error(`${path}: ${operatorText(error)}`, requestId === undefined ? {} : { requestId }),
    onRequest: ({ method, path, status, ms, requestId, operation, principal }: AnsweredRequest) => {
      const fields = { requestId, method, path, status, ms, operation, principal }
      log[status >= 500 ? 'error' : 'debug'](`${method} ${path} ${status} in ${ms} ms, request ${requestId}`, fields)
    },
  }
}
