import { Overdue } from './errors.ts'

/** The result of `work`. Rejects with `Overdue` after `ms`. `what` names the work in the message. */
export function withinDeadline<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Overdue(what, ms)), ms)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
