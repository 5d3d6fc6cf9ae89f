/** A port with one member replaced; all other members are the port's own. An assignment replaces the member again. */
export function replaced<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): T {
  let current = value
  const port: T = new Proxy(target, {
    get: (_, name) => (name === key ? current : member(target, name)),
    set(_, name, next, receiver) {
      // An object that inherits from the port gets a member of its own.
      if (name !== key || receiver !== port) return Reflect.set(target, name, next, receiver)
      current = next
      return true
    },
  })
  return port
}

/** A member of a port; methods are bound to the port. */
export function member(target: object, key: string | symbol): unknown {
  const found = Reflect.get(target, key) as unknown
  return typeof found === 'function' ? (...args: unknown[]) => Reflect.apply(found, target, args) as unknown : found
}
