/** The portal's texts in Spanish. */
import type { Catalogue } from "../ui/Language.ts"

export const texts: Catalogue = {
  // webhooks

  //

  //

  //

  // everywhere
  "{count} days": ["{count} día", "{count} días"],
  "just now": "ahora mismo",
  "in a moment": "en un momento",
  "{length} ago": "hace {length}",
  "in {length}": "en {length}",
  "Time zone: {timeZone}": "Zona horaria: {timeZone}",
  "Copy": "Copiar",
  "Copied": "Copiado",
  "Select and copy it": "Selecciónelo y cópielo",
  "Copy {what}": "Copiar {what}",
  "Cancel": "Cancelar",
  "Close": "Cerrar",
  "Done": "Listo",
  "Stop": "Detener",
  "Status": "Estado",
  "Created": "Creada",
  "Your role may not do this.": "Su rol no permite esta acción.",
  "It is not known whether this was done.": "No se sabe si la acción se realizó.",
  "A value is not valid.": "Un valor no es válido.",
  "You are not signed in.": "No hay una sesión iniciada.",
  "This is not allowed.": "Esta acción no está permitida.",
  "This was not found.": "No se encontró.",
  "This conflicts with an earlier request.": "Esto entra en conflicto con una solicitud anterior.",
  "Too many requests. Try again later.": "Demasiadas solicitudes. Inténtelo de nuevo más tarde.",
  "The service failed. Try again later.": "El servicio falló. Inténtelo de nuevo más tarde.",
  "The service refused this.": "El servicio rechazó la acción.",
  "Something went wrong in this page. Reload it.": "Algo falló en esta página. Vuelva a cargarla.",
  "The service did not respond: {why}.": "El servicio no respondió (“{why}”).",
  "Request {id}": "Solicitud {id}",
  "Pages of the list": "Páginas de la lista",
  "First page": "Primera página",
  "Next page": "Página siguiente",
  "No {what} fits these filters": "Nada coincide con estos filtros",
  "So far: the newest were looked at. The next page goes on with the older ones.":
    "Por ahora: se revisó lo más reciente. La página siguiente continúa con lo anterior.",
  "No {what} on this page": "No hay nada en esta página",
  "{count} rows so far": "Filas hasta ahora: {count}",
  "Stopped: no file was saved.": "Detenido: no se guardó ningún archivo.",
  "{count} rows saved.": ["{count} fila guardada.", "{count} filas guardadas."],
  "A file has at most this many rows.": "Un archivo no puede tener más filas.",
  "Download CSV": "Descargar CSV",
  "Loading": "Cargando",
  "Try again": "Reintentar",
  "the service does not respond now.": "el servicio no responde en este momento.",
  "This is from {time}: {why}": "Estos datos son de {time}: {why}",
  "Loading. What is below is from before.": "Cargando. Lo que aparece abajo es anterior.",
  "There is no such {what}": "No hay nada con este identificador",
  "Actions": "Acciones",
  "Deliveries": "Entregas",
  "API keys": "Claves de API",
  "Webhooks": "Webhooks",
  "Not found": "No encontrada",
  "There is no page at this address": "No hay ninguna página en esta dirección",
  "Overview": "Inicio",
  "Something went wrong": "Algo salió mal",
  "This page cannot be shown": "No se puede mostrar esta página",
  "Reload": "Volver a cargar",
  "An error in the page prevents that. What happened is in the browser’s console.":
    "Un error de la página lo impide. Los detalles están en la consola del navegador.",
  "Pages": "Páginas",
  "As the system": "Según el sistema",
  "Light": "Claro",
  "Dark": "Oscuro",
  "Your role: {role}": "Su rol: {role}",
  "Appearance": "Apariencia",
  "Not loaded": "No se cargó",
  "This page could not be loaded": "No se pudo cargar esta página",
  "The service has another version of the dashboard: reload it.":
    "El servicio tiene otra versión de estas páginas: vuelva a cargarlas.",
  "The service may be restarting. The page comes by itself once the service has it.":
    "Es posible que el servicio se esté reiniciando. La página aparecerá automáticamente en cuanto esté disponible.",
  "What you have filled in is kept until you reload: Back leads to it.":
    "Lo que haya rellenado se conserva hasta que vuelva a cargar la página: lo encontrará con Atrás.",
  "Skip to content": "Ir al contenido",
  "Menu": "Menú",
  "Close menu": "Cerrar menú",
  "member": "miembro",
  "developer": "desarrollador",
  "admin": "administrador",
  "owner": "propietario",
  "This needs the role {needed}; you are {role}. An admin of the workspace can change that.":
    "Esto requiere el rol {needed}; el suyo es {role}. Un administrador del espacio de trabajo puede cambiarlo.",
  "This view has ended": "Esta vista ha finalizado",
  "Reload the page of the application that shows it.": "Vuelva a cargar la página de la aplicación que la muestra.",
  "Your session has ended": "Su sesión ha finalizado",
  "Reload the page in the application that embeds this view.":
    "Vuelva a cargar la página en la aplicación que incluye esta vista.",
  "Send messages": "Enviar mensajes",
  "Read messages": "Leer mensajes",
  "With their text and files, and the events of all customers.":
    "Con su texto y sus archivos, y los eventos de todos los clientes.",
  "Store files": "Guardar archivos",
  "Upload the files that messages send, and delete files.":
    "Subir los archivos que los mensajes envían y eliminar archivos.",
  "Change opt-outs": "Cambiar bajas",
  "Record that a customer wants no messages, or wants them again.":
    "Registrar que un cliente no quiere mensajes o que los quiere de nuevo.",
  "Run campaigns": "Realizar campañas",
  "Send a template to all customers of a file, and read who got it.":
    "Enviar una plantilla a todos los clientes de un archivo y ver quién la recibió.",
  "Never": "Nunca",
  "In 30 days": "En 30 días",
  "In 90 days": "En 90 días",
  "In a year": "En un año",
  "At a time…": "En un momento determinado…",
  "Name": "Nombre",
  "What uses the key, for example “Order service”.": "Qué usa la clave, por ejemplo “Servicio de pedidos”.",
  "Expires": "Vencimiento",
  "Expires at": "Fecha y hora de vencimiento",
  "Besides sending messages, the key may": "Además de enviar mensajes, la clave permite",
  "Require signed requests": "Exigir solicitudes firmadas",
  "Requests with this key that change something are refused unless they are signed with its signing secret.":
    "Las solicitudes con esta clave que cambian algo se rechazan si no están firmadas con su secreto de firma.",
  "It sends from": "Envía desde",
  "If you choose none: from every number, also from those added later.":
    "Si no elige ninguno: desde todos los números, también los que se añadan más adelante.",
  "Used from": "Uso permitido desde",
  "Networks or addresses, for example 203.0.113.0/24. If you name none: from anywhere.":
    "Redes o direcciones, por ejemplo 203.0.113.0/24. Si no indica ninguna: desde cualquier lugar.",
  "Create key": "Crear clave",
  "These secrets are shown this once. Store both now, for example in your secret manager.":
    "Estos secretos se muestran solo esta vez. Guarde ambos ahora, por ejemplo en su gestor de secretos.",
  "API key": "Clave de API",
  "Signing secret": "Secreto de firma",
  "Try it: send a first message": "Probarla: enviar un primer mensaje",
  "Command": "Comando",
  "I have stored it": "Lo he guardado",
  "Store both secrets, then tick the box: they are not shown again.":
    "Guarde ambos secretos y marque la casilla: no se vuelven a mostrar.",
  "Create an API key": "Crear una clave de API",
  "API key “{name}”": "Clave de API “{name}”",
  "The key was created, but the response with its secrets was lost, and they are not shown again. Revoke this key and create another.":
    "La clave se creó, pero se perdió la respuesta con sus secretos, y no se vuelven a mostrar. Revoque esta clave y cree otra.",
  "Revoke…": "Revocar…",
  "All API keys": "Todas las claves de API",
  "Revoked": "Revocada",
  "Expired": "Vencida",
  "Active": "Activa",
  "Begins with": "Comienza con",
  "May": "Permisos",
  "Sends from": "Envía desde",
  "Every number": "Todos los números",
  "Anywhere": "Cualquier lugar",
  "Last used": "Último uso",
  "Signed requests": "Solicitudes firmadas",
  "Required": "Obligatorias",
  "Optional": "Opcionales",
  "Create API key": "Crear clave de API",
  "Your servers send messages with an API key. Keep keys out of browsers and apps.":
    "Sus servidores envían mensajes con una clave de API. No use las claves en navegadores ni aplicaciones.",
  "Revoke {name}": "Revocar {name}",
  "There is no active API key": "No hay ninguna clave de API activa",
  "A key’s secrets are shown once, when it is created.":
    "Los secretos de una clave se muestran una sola vez, al crearla.",
  "Revoke “{name}”?": "¿Revocar “{name}”?",
  "Revoke key": "Revocar clave",
  "Every request with this key is refused within 2 seconds. This cannot be undone.":
    "Todas las solicitudes con esta clave se rechazan en menos de 2 segundos. Esto no se puede deshacer.",
  "It was never used.": "Nunca se usó.",
  "It was last used {time}.": "Se usó por última vez {time}."
}
