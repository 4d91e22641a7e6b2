export { askEdgehub } from './control/ask.ts'
export { performControl } from './control/perform.ts'
export {
  type ControlAnswer,
  type ControlRequest,
  controlSocket,
  parseControlRequest,
} from './control/request.ts'
export { readHold } from './store/hold.ts'
