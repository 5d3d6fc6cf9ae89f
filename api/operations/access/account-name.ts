import { userInfo } from 'node:os'

/** The name of the operating system's user. Some containers have users without a name: `anonymous`. */
export function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return 'anonymous'
  }
}
