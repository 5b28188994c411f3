<?php
// What wp-config.php says elsewhere: where the database of this run is, and nothing that calls out.
foreach (['DB_NAME', 'DB_USER', 'DB_PASSWORD', 'DB_HOST'] as $name) {
    define($name, getenv("WORDPRESS_$name"));
}
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY'] as $name) {
    define($name, getenv('WORDPRESS_SALT') . $name);
    define(str_replace('_KEY', '_SALT', $name), getenv('WORDPRESS_SALT') . $name . 'SALT');
}
define('DB_CHARSET', 'utf8mb4');
define('ABSPATH', '/usr/share/wordpress/');
define('WP_HOME', getenv('WORDPRESS_URL'));
define('WP_SITEURL', getenv('WORDPRESS_URL'));
// Application passwords need TLS, except on a local installation.
define('WP_ENVIRONMENT_TYPE', 'local');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';

// Nobody gets mail from a test.
function wp_mail()
{
    return true;
}
