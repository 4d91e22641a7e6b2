// The library decorates classes while it loads, so its metadata store has to be there first.
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(webcrypto)

export { x509 }
